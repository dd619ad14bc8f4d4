/* Feeds every file of SEEDS/<kind>/ to its kind once, without a fuzzing engine: a test. */
#include "fuzz.h"

#include <dirent.h>

static int feed_file(const fuzz_kind *kind, const char *path)
{
    static uint8_t data[1 << 16];
    FILE *file = fopen(path, "rb");
    FUZZ_CHECK(file, "cannot open %s", path);
    size_t size = fread(data, 1, sizeof data, file);
    FUZZ_CHECK(size < sizeof data && !ferror(file), "too large: %s", path);
    fclose(file);
    /* As it is, and cut short: outside of its own bytes the sanitizers watch. */
    for (int part = 0; part < 4; part++) {
        size_t used = part == 0 ? size : size * (size_t)part / 4;
        uint8_t *exact = malloc(used ? used : 1);
        memcpy(exact, data, used);
        kind->feed(kind, exact, used);
        free(exact);
    }
    return 1;
}

static int feed_kind(const fuzz_kind *kind, const char *seeds)
{
    char path[1024];
    int count = 0;
    snprintf(path, sizeof path, "%s/%s", seeds, kind->name);
    DIR *directory = opendir(path);
    FUZZ_CHECK(directory, "cannot open %s", path);
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s/%s", seeds, kind->name, entry->d_name);
        fprintf(stderr, "%s/%s\n", kind->name, entry->d_name);
        count += feed_file(kind, path);
    }
    closedir(directory);
    FUZZ_CHECK(count > 0, "no seeds in %s/%s", seeds, kind->name);
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: fuzz_seeds SEEDS\n");
        return 2;
    }
    for (const fuzz_kind *kind = fuzz_kinds; kind->name; kind++)
        count += feed_kind(kind, argv[1]);
    fuzz_remove_folder();
    printf("%d seeds\n", count);
    return 0;
}
