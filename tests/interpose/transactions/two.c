// SPDX-License-Identifier: BSD-3-Clause
// Two pools, one thread. In a transaction of the first, some call makes the second durable.
// Whichever call does so, earlier reports of the first are durable then as well.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pool.h"

// The case ends in the transaction, with its first word durable, and then the second's.
static void second_persisted(void) {
  TX_BEGIN(pool.at) {
    change(&pool, 0, 1000);
    report(&pool, 41);
    report(&second, 42);
    here();
  }
  TX_ONABORT {
    work_failed("the transaction");
  }
  TX_END
}

// After this, there is no window for later changes.
static void second_persisted_before(void) {
  TX_BEGIN(pool.at) {
    change(&pool, 0, 1000);
    report(&second, 43);
    report(&pool, 44);
    here();
  }
  TX_ONABORT {
    work_failed("the transaction");
  }
  TX_END
}

static void second_allocates(void) {
  TX_BEGIN(pool.at) {
    change(&pool, 0, 1000);
    report(&pool, 45);
    print_result("alloc", POBJ_ALLOC(second.at, &second.bytes->other, struct blob,
                                     sizeof(struct blob), construct, "of the second"));
    here();
  }
  TX_ONABORT {
    work_failed("the transaction");
  }
  TX_END
}

static void second_begins(void) {
  TX_BEGIN(pool.at) {
    change(&pool, 0, 1000);
    TX_BEGIN(second.at) {
      work_failed("a transaction of two pools");
    }
    TX_ONABORT {
      print_result("inner", pmemobj_tx_errno());
    }
    TX_END
    work_failed("the outer one continues");
  }
  TX_ONABORT {
    print_result("outer", pmemobj_tx_errno());
  }
  TX_END
  report(&pool, 46);
  report(&second, 47);
}

static void one_after_the_other(void) {
  TX_BEGIN(pool.at) {
    change(&pool, 0, 1000);
    report(&second, 48);
  }
  TX_END
  TX_BEGIN(second.at) {
    change(&second, 0, 2000);
  }
  TX_END
  TX_BEGIN(pool.at) {
    change(&pool, 1, 1001);
  }
  TX_END
}

static void second_aborts(void) {
  TX_BEGIN(pool.at) {
    change(&pool, 0, 1000);
    pmemobj_persist(pool.at, pool.bytes->value, 8);
    report(&second, 49);
    pmemobj_tx_abort(EAGAIN);
  }
  TX_END
  report(&pool, 50);
}

// Not by a flush: the second file as any file.
static void second_mapped(int with_msync) {
  const off_t at =
      (off_t)((char *)second.bytes - (char *)second.at) + (off_t)offsetof(struct root, reported);
  const int fd = open(second_path, O_RDWR);
  if (fd < 0) work_failed("open");
  const off_t page = at / 4096 * 4096;
  char *const bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, page);
  if (bytes == MAP_FAILED) work_failed("mmap");
  TX_BEGIN(pool.at) {
    change(&pool, 0, 1000);
    report(&pool, 51);
    if (with_msync) {
      memset(bytes + (at - page), 1, 1);
      print_result("msync", msync(bytes, 4096, MS_SYNC));
    } else {
      print_result("pwrite", (long)pwrite(fd, "\1", 1, at));
      print_result("fsync", fsync(fd));
    }
    here();
  }
  TX_ONABORT {
    work_failed("the transaction");
  }
  TX_END
}
static void second_synced_by_address(void) {
  second_mapped(1);
}
static void second_synced_by_descriptor(void) {
  second_mapped(0);
}

// In turns, so that a program that watches both files (`watch`) sees changes.
static void in_turns(void) {
  for (volatile uint64_t n = 1; n <= turns; ++n) {
    TX_BEGIN(pool.at) {
      report(&pool, n);
      report(&second, n);
    }
    TX_ONABORT {
      work_failed("the transaction");
    }
    TX_END
  }
}

const struct test_case cases_of_two[] = {
    {"second_persisted", second_persisted},
    {"second_persisted_before", second_persisted_before},
    {"second_allocates", second_allocates},
    {"second_begins", second_begins},
    {"one_after_the_other", one_after_the_other},
    {"second_aborts", second_aborts},
    {"second_synced_by_address", second_synced_by_address},
    {"second_synced_by_descriptor", second_synced_by_descriptor},
    {"in_turns", in_turns},
    {NULL, NULL}};
