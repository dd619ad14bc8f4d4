/*
 * What a process that ends in a signal handler can still do: take its unfinished output away. Only
 * system calls, no memory and no library that a signal may have interrupted.
 */
#define _GNU_SOURCE
#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As the kernel writes them; the rest of the name follows. */
typedef struct kernel_entry {
    uint64_t inode;
    int64_t next;
    uint16_t size;
    uint8_t type;
    char name[];
} kernel_entry;

static void remove_contents(int folder, int depth);

static void remove_entry(int folder, const char *name, int depth)
{
    if ((name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]))) ||
        unlinkat(folder, name, 0) == 0)
        return;
    int inner = depth > 0 ? openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (inner < 0)
        return;
    remove_contents(inner, depth - 1);
    close(inner);
    unlinkat(folder, name, AT_REMOVEDIR);
}

static void remove_contents(int folder, int depth)
{
    _Alignas(kernel_entry) char buffer[4096];
    for (long bytes; (bytes = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0;)
        for (long at = 0; at < bytes;) {
            const kernel_entry *entry = (const kernel_entry *)(buffer + at);
            remove_entry(folder, entry->name, depth);
            at += entry->size;
        }
}

/* Directories above `place` that were made for it. */
static void remove_parents(const char *place, int count)
{
    char path[PATH_MAX];
    size_t length = strlen(place);
    if (length >= sizeof path)
        return;
    memcpy(path, place, length + 1);
    for (char *slash; count > 0 && (slash = strrchr(path, '/')); count--) {
        *slash = '\0';
        rmdir(path);
    }
}

void pl_output_abandon(const pl_output *output)
{
    const pl_directory *d = &output->directory;
    const char *partial = d->partial;
    /* Threads that have not heard of the end may make another file. */
    for (int attempt = 0; partial && attempt < 10 && rmdir(partial) != 0 && errno != ENOENT;
         attempt++) {
        int folder = open(partial, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder < 0)
            return;
        remove_contents(folder, 1);
        close(folder);
    }
    if (d->removed_empty)
        mkdir(d->place, 0777);
    else
        remove_parents(d->place, d->made_parents);
}
