/* The twelve identification tasks of the paper "Fast and Reliable Gradients for Deformables Across
 * Frictional Contact Regimes" (Zeng, Yang, Huang, Zhou, Li, Pho, Luo and Shi), with its numbers. */
#ifndef PL_SUITE_H
#define PL_SUITE_H

#include <stdbool.h>

enum { SUITE_LOW, SUITE_MID, SUITE_HIGH, SUITE_SCALES };

/* Times and memory are [scale], on the paper's GPU; areas and errors early, mid, late. */
typedef struct suite_task {
    const char *name;           /* of its file in scenes/tasks */
    int vertices[SUITE_SCALES]; /* the paper's */
    bool rectangle;             /* the mesh is a generated square, given by its cell */
    double forward[SUITE_SCALES], backward[SUITE_SCALES]; /* s per iteration */
    double megabytes[SUITE_SCALES];
    double t50, t90; /* % */
    double area[3];  /* as printed in the paper: percent of the whole run */
    double error[3];
} suite_task;

extern const suite_task suite_tasks[];
extern const int suite_task_count;

#endif
