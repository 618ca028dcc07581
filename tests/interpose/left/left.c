// SPDX-License-Identifier: BSD-3-Clause
// left CASE FILE SECOND: makes one mistake, or none, with lines of FILE, and, in cases with a
// second file, with lines of SECOND. Both exist.
#include <fcntl.h>
#include <libpmem.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *path;
static char *m, *n;
static size_t length, n_length;

// Stores a value that no earlier run has stored.
static void store(char *at) {
  unsigned long word;
  memcpy(&word, at, sizeof word);
  word = word * 2862933555777941757ul + (unsigned long)getpid();
  memcpy(at, &word, sizeof word);
}

static void *flushes_only(void *unused) {
  store(m + 64);
  pmem_flush(m + 64, 8);
  return unused;
}

static void *persists(void *number) {
  char *at = m + 4096 + 640 * (size_t)number;
  for (int i = 0; i < 500; ++i) {
    store(at);
    pmem_persist(at, 8);
  }
  return number;
}

// Its half of a line that the other thread has a half of as well.
static void *persists_half(void *number) {
  char *at = m + 64 + 32 * (size_t)number;
  for (int i = 0; i < 3000; ++i) {
    store(at);
    pmem_flush(at, 8);
    pmem_drain();
  }
  return number;
}

static void in_threads(void *(*what)(void *), size_t threads) {
  pthread_t all[8];
  for (size_t i = 0; i < threads; ++i) pthread_create(&all[i], NULL, what, (void *)i);
  for (size_t i = 0; i < threads; ++i) pthread_join(all[i], NULL);
}

static void early(void) {
  store(m + 64);
  pmem_flush(m + 64, 8);
  store(m + 72);
  pmem_drain();
}

int main(int argc, char **argv) {
  if (argc != 4) return 1;
  int is_pmem;
  const char *which = argv[1];
  path = argv[2];
  m = pmem_map_file(path, 0, 0, 0, &length, &is_pmem);
  if (m == NULL) return 1;
#define CASE(name) if (strcmp(which, #name) == 0)
  // Never fenced.
  CASE(unfenced) {
    flushes_only(NULL);
  }
  CASE(unfenced_exit) {
    flushes_only(NULL);
    _exit(0);
  }
  CASE(streamed) {
    char text[32];
    snprintf(text, sizeof text, "process %d", (int)getpid());
    pmem_memcpy_nodrain(m + 64, text, sizeof text);
  }
  CASE(streamed_much) {
    char *more = malloc(10000);
    memset(more, (int)getpid(), 10000);
    more[0] ^= 1;
    pmem_memcpy_nodrain(m + 64, more, 10000);
  }
  CASE(unmapped) {
    flushes_only(NULL);
    pmem_unmap(m, length);
    m = pmem_map_file(path, 0, 0, 0, &length, &is_pmem);
    store(m + 128);
    pmem_persist(m + 128, 8);
  }
  CASE(closed) {
    flushes_only(NULL);
    pmem_unmap(m, length);
  }
  CASE(last_thread) {
    in_threads(flushes_only, 1);
  }
  CASE(second_file) {
    n = pmem_map_file(argv[3], 0, 0, 0, &n_length, &is_pmem);
    store(m + 64);
    pmem_persist(m + 64, 8);
    store(n + 64);
    pmem_flush(n + 64, 8);
  }
  // Flushed too early.
  CASE(early) {
    early();
  }
  CASE(early_unmapped) {
    early();
    pmem_unmap(m, length);
  }
  CASE(early_killed_softly) {
    early();
    _exit(0);
  }
  CASE(stored_again) {
    store(m + 64);
    pmem_persist(m + 64, 8);
    store(m + 72);
  }
  // Ends.
  CASE(killed) {
    store(m + 64);
    kill(getpid(), SIGKILL);
  }
  CASE(killed_unfenced) {
    flushes_only(NULL);
    kill(getpid(), SIGKILL);
  }
  CASE(killed_clean) {
    store(m + 64);
    pmem_persist(m + 64, 8);
    kill(getpid(), SIGKILL);
  }
  CASE(becomes) {
    store(m + 64);
    execl("/bin/true", "true", (char *)NULL);
  }
  CASE(becomes_clean) {
    store(m + 64);
    pmem_persist(m + 64, 8);
    execl("/bin/true", "true", (char *)NULL);
  }
  CASE(exits_at_once) {
    store(m + 64);
    _exit(0);
  }
  CASE(aborts) {
    store(m + 64);
    abort();
  }
  // Right.
  CASE(persists) {
    store(m + 64);
    pmem_persist(m + 64, 8);
  }
  CASE(streams_and_drains) {
    char *more = malloc(10000);
    memset(more, (int)getpid() + 1, 10000);
    pmem_memcpy_nodrain(m + 64, more, 10000);
    pmem_drain();
  }
  CASE(synced) {
    flushes_only(NULL);
    pmem_msync(m + 64, 8);
  }
  CASE(synced_file) {
    flushes_only(NULL);
    const int descriptor = open(path, O_RDWR);
    if (fsync(descriptor) != 0) return 1;
    close(descriptor);
  }
  CASE(early_synced) {
    early();
    pmem_msync(m + 64, 16);
  }
  CASE(early_flushed) {
    early();
    pmem_persist(m + 64, 16);
  }
  CASE(early_beside) {
    in_threads(persists_half, 2);
  }
  CASE(two_files) {
    n = pmem_map_file(argv[3], 0, 0, 0, &n_length, &is_pmem);
    store(m + 64);
    store(n + 64);
    pmem_flush(m + 64, 8);
    pmem_flush(n + 64, 8);
    pmem_drain();
  }
  CASE(threads) {
    in_threads(persists, 8);
  }
  CASE(unchanged) {
    pmem_flush(m, length);
  }
  return 0;
}
