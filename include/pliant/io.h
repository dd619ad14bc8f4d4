/*
 * Files: scenes read from JSON, simulations written for ParaView and as a summary.
 *
 * A scene file says what the calls of pliant.h would: docs/scenes.md explains it,
 * docs/scene.schema.json is its JSON Schema, and a scene made by the calls is the same scene.
 */
#ifndef PLIANT_IO_H
#define PLIANT_IO_H

#include <pliant/pliant.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------- scene files */

/* What a scene file says beyond the scene itself. */
typedef struct pl_scene_file_info {
    char name[128];        /* "" when the file gives none */
    int steps;             /* to simulate; default 100 */
    int output_every;      /* write every this many steps, and the start; default 1 */
    bool output_volume;    /* default true */
    bool output_surface;   /* default true */
    bool output_colliders; /* default true */
} pl_scene_file_info;

/*
 * Reads and checks a scene. `overrides` [override_count] are "path=value" texts applied before the
 * check: "bodies[0].material.young=2e5", "colliders.floor.friction=0". Meshes are found relative to
 * the file. A message says file, line and field:
 *     scene.json:12: bodies[0].material.young: expected a number > 0 (Pa), got -3
 * info may be NULL. On failure *out is NULL.
 */
PL_API pl_status pl_scene_load(pl_context *ctx, const char *path, int override_count,
                               const char *const *overrides, pl_scene **out, pl_scene_file_info *info);
/* The same from text: `name` stands for the file in messages, meshes are found relative to
 * `directory` (NULL = the current one). */
PL_API pl_status pl_scene_load_text(pl_context *ctx, const char *text, size_t length, const char *name,
                                    const char *directory, int override_count,
                                    const char *const *overrides, pl_scene **out,
                                    pl_scene_file_info *info);

/*
 * A scene as such a file, which loads as the same scene bit for bit: meshes as arrays, the start of
 * every vertex, parameters as they are now. info NULL = its defaults. Parts of a kind that have names
 * need ones that differ. *text is zero-terminated, the caller's, freed with pl_free.
 */
PL_API pl_status pl_scene_text(const pl_scene *scene, const pl_scene_file_info *info, char **text);
/* The same into a file, which appears whole or not at all. */
PL_API pl_status pl_scene_save(const pl_scene *scene, const pl_scene_file_info *info, const char *path);

/* The JSON Schema (draft 2020-12) of scene files, made from the table the reader works with.
 * *text is zero-terminated, the caller's, freed with pl_free. */
PL_API pl_status pl_scene_schema(pl_context *ctx, char **text);

/* ------------------------------------------------------------------------------- output */

/*
 * A directory with what a simulation did:
 *
 *     volume.pvd, volume/<step>.vtu        elements: displacement, velocity; stress, von Mises, energy
 *     surface.pvd, surface/<step>.vtu      boundary triangles: contact forces, normal and tangential,
 *                                          and whose contact presses hardest: the index of a
 *                                          body, or of a collider counted on after the bodies
 *     colliders.pvd, colliders/<step>.vtu  obstacles as triangles, a file for every change of pose
 *     cables.pvd, cables/<step>.vtu        cables, if there are some
 *     contact_forces.csv                   of every step what each pair presses and rubs with, N
 *     summary.json                         iterations, residual, energies, contacts, times
 *     manifest.txt                         the names of all these
 *
 * It is built beside its final place and moved there by pl_output_finish: whole or not at all.
 */
typedef struct pl_output pl_output;

typedef struct pl_output_def {
    const char *directory;
    bool replace; /* files of an earlier output in that place are replaced, all others there stay;
                     default false */
    int every;    /* write every this many steps, and the start; default 1 */
    bool volume, surface, colliders; /* default true */
    const char *scene;               /* named in the summary; NULL = none */
} pl_output_def;

PL_API pl_output_def pl_output_def_default(void);
/* Fails at once when the directory exists and may not be replaced, or cannot be made. */
PL_API pl_status pl_output_create(pl_sim *sim, const pl_output_def *def, pl_output **out);
/* Before the first step with info NULL, then after every step. */
PL_API pl_status pl_output_step(pl_output *output, const pl_state *state, const pl_step_info *info);
/* Instead of these: a rollout of the same sim, which needs its tape, from its start to its end, with
 * the parameters it was run with. infos [steps] go into the summary; NULL = none. */
PL_API pl_status pl_output_rollout(pl_output *output, pl_rollout *rollout, const pl_step_info *infos);
/* Writes the summary, which names `outcome`, and puts the directory in its place. Once. Where only that
 * last move fails, the whole directory stays beside its place and the message names it. */
PL_API pl_status pl_output_finish(pl_output *output, pl_status outcome);
/* Removes what was written unless it was finished. NULL is fine. */
PL_API void pl_output_destroy(pl_output *output);
/* The same from a signal handler that then ends the process: all in the directory that is not in its
 * place yet goes, and nothing is freed. Not during pl_output_finish, which moves it. */
PL_API void pl_output_abandon(const pl_output *output);

#ifdef __cplusplus
}
#endif
#endif
