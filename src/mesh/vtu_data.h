/* The binary arrays of a .vtu file: raw or base64, plain or compressed by zlib. */
#ifndef PL_MESH_VTU_DATA_H
#define PL_MESH_VTU_DATA_H

#include "mesh/scan.h"

typedef struct pl_vtu_block {
    size_t begin, end; /* of the data in the file's text */
    bool base64;
    bool compressed;
    bool big_endian;
    int header_size; /* 4 or 8 bytes for each number of the header */
} pl_vtu_block;

/* Reads exactly `count` bytes of array data, into out[count]. */
pl_status pl_vtu_read_block(pl_scan *scan, const pl_vtu_block *block, const char *what, size_t count,
                            void *out);

#endif
