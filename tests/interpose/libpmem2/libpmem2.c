// SPDX-License-Identifier: BSD-3-Clause
// A program on libpmem2 that knows nothing of the shield. libpmem2 WAY FILE COUNT: appends COUNT
// records. It makes each durable in that way, and then reports it by a line on standard output.
// libpmem2 read FILE: how many records the file has, all of them right.
#include <fcntl.h>
#include <inttypes.h>
#include <libpmem2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { words = 25 };  // 200 bytes: they cross lines
struct record {
  uint64_t word[words];
};

static int failed(const char *what) {
  pmem2_perror("%s", what);
  return 1;
}

static struct record record_of(uint64_t number) {
  struct record r;
  for (uint64_t i = 0; i < words; ++i) r.word[i] = (number + 1) * 2654435761u + i;
  return r;
}

static uint64_t count_of(const struct record *all, uint64_t most) {
  uint64_t n = 0;
  for (; n < most; ++n) {
    const struct record wanted = record_of(n);
    if (memcmp(&all[n], &wanted, sizeof wanted) != 0) break;
  }
  return n;
}

// The result of libminiasync's future_poll(); its header is not in Debian.
struct future {
  int (*task)(void *context, void *notifier);
  void *property;
  char context[1008];
};
enum { future_complete = 1 };
extern struct future pmem2_memcpy_async(struct pmem2_map *map, void *to, const void *from, size_t n,
                                        unsigned flags);
extern struct future pmem2_memset_async(struct pmem2_map *map, void *to, int byte, size_t n,
                                        unsigned flags);

static void finish(struct future f) {
  while (f.task(f.context, NULL) != future_complete) {
  }
}

static int append(struct pmem2_map *map, const char *way, struct record *to, struct record r) {
  if (strcmp(way, "persist") == 0) {
    *to = r;
    pmem2_get_persist_fn(map)(to, sizeof r);
  } else if (strcmp(way, "flush") == 0) {
    *to = r;
    pmem2_get_flush_fn(map)(to, sizeof r);
    pmem2_get_drain_fn(map)();
  } else if (strcmp(way, "memcpy") == 0) {
    pmem2_get_memcpy_fn(map)(to, &r, sizeof r, PMEM2_F_MEM_NONTEMPORAL);
  } else if (strcmp(way, "memmove") == 0) {
    pmem2_get_memmove_fn(map)(to, &r, sizeof r, PMEM2_F_MEM_NODRAIN);
    pmem2_get_drain_fn(map)();
  } else if (strcmp(way, "memset") == 0) {
    for (size_t i = 0; i < sizeof r; ++i)
      pmem2_get_memset_fn(map)((char *)to + i, ((unsigned char *)&r)[i], 1, PMEM2_F_MEM_NODRAIN);
    pmem2_get_drain_fn(map)();
  } else if (strcmp(way, "deep_flush") == 0) {
    *to = r;
    if (pmem2_deep_flush(map, to, sizeof r) != 0) return failed("pmem2_deep_flush");
  } else if (strcmp(way, "memcpy_async") == 0) {
    finish(pmem2_memcpy_async(map, to, &r, sizeof r, 0));
  } else if (strcmp(way, "memset_async") == 0) {
    for (size_t i = 0; i < sizeof r; ++i)
      finish(pmem2_memset_async(map, (char *)to + i, ((unsigned char *)&r)[i], 1, 0));
  } else if (strcmp(way, "unflushed") == 0) {
    *to = r;
  } else {
    return 98;
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) return 98;
  const char *way = argv[1], *const wanted = getenv("GRANULARITY");
  const int fd = open(argv[2], O_RDWR);
  if (fd < 0) return perror("open"), 1;
  struct pmem2_source *source = NULL;
  struct pmem2_config *config = NULL;
  struct pmem2_map *map = NULL;
  if (pmem2_source_from_fd(&source, fd) != 0) return failed("pmem2_source_from_fd");
  if (pmem2_config_new(&config) != 0) return failed("pmem2_config_new");
  pmem2_config_set_required_store_granularity(
      config, wanted == NULL ? PMEM2_GRANULARITY_CACHE_LINE : (enum pmem2_granularity)atoi(wanted));
  const int result = pmem2_map_new(&map, config, source);
  if (result != 0) return fprintf(stderr, "pmem2_map_new: %d\n", result), 1;
  pmem2_config_delete(&config);
  pmem2_source_delete(&source);
  close(fd);

  struct record *const all = pmem2_map_get_address(map);
  const uint64_t most = pmem2_map_get_size(map) / sizeof *all;
  uint64_t n = count_of(all, most);
  if (strcmp(way, "read") == 0)
    printf("%" PRIu64 " records, granularity %d\n", n, (int)pmem2_map_get_store_granularity(map));
  else
    for (long left = argc > 3 ? atol(argv[3]) : 1; left > 0 && n < most; --left, ++n) {
      const int status = append(map, way, &all[n], record_of(n));
      if (status != 0) return status;
      printf("%" PRIu64 "\n", n + 1);
      fflush(stdout);
    }
  if (pmem2_map_delete(&map) != 0) return failed("pmem2_map_delete");
  return 0;
}
