/*
** replay.c: runs a fuzz target over files, each from memory that ends where it does: what
** libFuzzer's main does with files for arguments, for compilers that have none.
*/
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return 0;
  uint8_t *whole = NULL, *data;
  size_t size = 0, got;
  do {
    data = realloc(whole, size + 4096);
    if (!data) exit(2);
    whole = data;
    got = fread(whole + size, 1, 4096, file);
    size += got;
  } while (got > 0);
  fclose(file);
  data = realloc(whole, size ? size : 1);
  if (!data) exit(2);
  LLVMFuzzerTestOneInput(data, size);
  free(data);
  return 1;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    /* Flushed, so that the last line names what a crash was in. */
    printf("%s\n", argv[i]);
    fflush(stdout);
    if (!run(argv[i])) return 1;
  }
  return 0;
}
