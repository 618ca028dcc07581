#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { lines_max = 1000 };
struct notes {
  unsigned long count;
  char line[lines_max][64];
};

int main(int argc, char **argv) {
  int fd = open(argv[argc - 1], O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(struct notes)) != 0) return 1;
  struct notes *n = mmap(NULL, sizeof *n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (n == MAP_FAILED) return 2;
  char text[64] = "";
  while (n->count < lines_max && fgets(text, sizeof text, stdin)) {
    memcpy(n->line[n->count++], text, sizeof text);
    if (msync(n, sizeof *n, MS_SYNC) != 0) return 3;
  }
  for (unsigned long i = 0; i < n->count; ++i) fputs(n->line[i], stdout);
  return 0;
}
