// SPDX-License-Identifier: BSD-3-Clause
// Transactions of one pool: how they end, and where they may be left. A case that runs to its end
// stores a plain word after it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"

enum { too_much = PMEMOBJ_MIN_POOL };

// Values on several lines, an object that is replaced, one that is new.
static void work(void) {
  for (unsigned i = 0; i < values; i += 8) change(&pool, i, 1000 + i);
  TX_ADD(pool.root);
  TX_FREE(pool.bytes->kept);
  pool.bytes->kept = TX_NEW(struct blob);
  TX_ADD(pool.bytes->kept);
  strcpy(D_RW(pool.bytes->kept)->text, "in a transaction");
  pool.bytes->other = TX_ZNEW(struct blob);
  strcpy(D_RW(pool.bytes->other)->text, "one more");
}

static void commits(void) {
  TX_BEGIN(pool.at) {
    work();
  }
  TX_ONABORT {
    work_failed("the transaction");
  }
  TX_END
  print_result("tx", pmemobj_tx_errno());
  report(&pool, 1);
}

static void aborts(void) {
  TX_BEGIN(pool.at) {
    work();
    pmemobj_tx_abort(EAGAIN);
  }
  TX_ONCOMMIT {
    work_failed("it has committed");
  }
  TX_ONABORT {
    print_result("on abort", pmemobj_tx_errno());
  }
  TX_FINALLY {
    print_result("finally", (long)pmemobj_tx_stage());
  }
  TX_END
  print_result("errno", errno);
  report(&pool, 2);
}

// No jump: the program asks for the stage.
static void aborts_by_hand(void) {
  print_result("begin", pmemobj_tx_begin(pool.at, NULL, TX_PARAM_NONE));
  work();
  pmemobj_tx_abort(EAGAIN);
  print_result("stage", (long)pmemobj_tx_stage());
  print_result("end", pmemobj_tx_end());
  print_result("stage", (long)pmemobj_tx_stage());
  report(&pool, 3);
}

static void commits_by_hand(void) {
  print_result("begin", pmemobj_tx_begin(pool.at, NULL, TX_PARAM_NONE));
  work();
  pmemobj_tx_process();
  print_result("stage", (long)pmemobj_tx_stage());
  pmemobj_tx_process();
  print_result("end", pmemobj_tx_end());
  report(&pool, 4);
}

// The program's own longjmp(), out of the function that has begun the transaction; then it aborts.
static jmp_buf out;
static void work_and_leave(void) {
  print_result("begin", pmemobj_tx_begin(pool.at, NULL, TX_PARAM_NONE));
  work();
  longjmp(out, 1);
}
static void jumps(void) {
  if (setjmp(out) == 0) work_and_leave();
  print_result("stage", (long)pmemobj_tx_stage());
  pmemobj_tx_abort(ECANCELED);
  print_result("end", pmemobj_tx_end());
  report(&pool, 5);
}

static void fails_to_allocate(void) {
  TX_BEGIN(pool.at) {
    work();
    pmemobj_tx_alloc(too_much, 7);
    work_failed("it has got all of the pool");
  }
  TX_ONABORT {
    print_result("on abort", pmemobj_tx_errno());
  }
  TX_END
  report(&pool, 6);
}

static void fails_to_add(void) {
  TX_BEGIN(pool.at) {
    work();
    pmemobj_tx_add_range(pool.root.oid, 0, (size_t)PMEMOBJ_MAX_ALLOC_SIZE + 1);
    work_failed("it has added more than there is");
  }
  TX_ONABORT {
    print_result("on abort", pmemobj_tx_errno());
  }
  TX_END
  report(&pool, 7);
}

// An error that is only reported, and so aborts nothing.
static void fails_and_goes_on(void) {
  TX_BEGIN(pool.at) {
    work();
    print_result("alloc", OID_IS_NULL(pmemobj_tx_xalloc(too_much, 7, POBJ_XALLOC_NO_ABORT)));
  }
  TX_ONABORT {
    work_failed("it has aborted");
  }
  TX_END
  report(&pool, 8);
}

static void inner_aborts(void) {
  TX_BEGIN(pool.at) {
    change(&pool, 1, 1001);
    TX_BEGIN(pool.at) {
      work();
      pmemobj_tx_abort(EINTR);
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
  report(&pool, 9);
}

static void outer_aborts(void) {
  TX_BEGIN(pool.at) {
    change(&pool, 1, 1001);
    TX_BEGIN(pool.at) {
      work();
    }
    TX_ONCOMMIT {
      print_result("inner", pmemobj_tx_errno());
    }
    TX_END
    change(&pool, 2, 1002);
    pmemobj_tx_abort(EINTR);
  }
  TX_ONABORT {
    print_result("outer", pmemobj_tx_errno());
  }
  TX_END
  report(&pool, 10);
}

static void nested(void) {
  for (unsigned i = 0; i < 3; ++i) {
    TX_BEGIN(pool.at) {
      change(&pool, 1, 1001 + i);
      TX_BEGIN(pool.at) {
        change(&pool, 2, 1002 + i);
      }
      TX_END
      TX_BEGIN(pool.at) {
        change(&pool, 3, 1003 + i);
      }
      TX_END
    }
    TX_ONABORT {
      work_failed("the transaction");
    }
    TX_END
  }
  report(&pool, 11);
}

// One transaction after another that was aborted, with nothing plain in between.
static void aborts_and_commits(void) {
  TX_BEGIN(pool.at) {
    work();
    pmemobj_tx_abort(EAGAIN);
  }
  TX_END
  TX_BEGIN(pool.at) {
    change(&pool, 9, 1009);
  }
  TX_ONABORT {
    work_failed("the transaction");
  }
  TX_END
}

static void left_inside(void) {
  TX_BEGIN(pool.at) {
    work();
    here();
  }
  TX_ONABORT {
    work_failed("the transaction");
  }
  TX_END
  report(&pool, 12);
}

static void left_in_an_inner_one(void) {
  TX_BEGIN(pool.at) {
    change(&pool, 1, 1001);
    TX_BEGIN(pool.at) {
      work();
    }
    TX_END
    TX_BEGIN(pool.at) {
      change(&pool, 2, 1002);
      here();
    }
    TX_END
  }
  TX_ONABORT {
    work_failed("the transaction");
  }
  TX_END
  report(&pool, 13);
}

// The restored bytes are not committed yet.
static void left_in_an_abort(void) {
  TX_BEGIN(pool.at) {
    work();
    pmemobj_tx_abort(EAGAIN);
  }
  TX_ONABORT {
    here();
  }
  TX_END
  report(&pool, 14);
}

// Another thread makes the pool durable in the middle. With it become durable the flushed stores of
// this thread: its half work and the log of that (SHIELD-8 has one order of commit sets for all
// threads). So there is something to restore.
static void *reports(void *number) {
  report(&pool, (uint64_t)(uintptr_t)number);
  return NULL;
}
static void let_another_thread_report(uintptr_t number) {
  for (unsigned i = 0; i < values; i += 8) pmemobj_persist(pool.at, &pool.bytes->value[i], 8);
  pthread_t other;
  if (pthread_create(&other, NULL, reports, (void *)number) != 0 || pthread_join(other, NULL) != 0)
    work_failed("a thread");
}
static void left_when_durable(void) {
  TX_BEGIN(pool.at) {
    work();
    let_another_thread_report(15);
    here();
  }
  TX_ONABORT {
    work_failed("the transaction");
  }
  TX_END
}
static void aborts_what_is_durable(void) {
  TX_BEGIN(pool.at) {
    work();
    let_another_thread_report(16);
    pmemobj_tx_abort(EAGAIN);
  }
  TX_ONABORT {
    print_result("on abort", pmemobj_tx_errno());
  }
  TX_END
}

static void left_between(void) {
  TX_BEGIN(pool.at) {
    change(&pool, 1, 1001);
  }
  TX_END
  here();
  TX_BEGIN(pool.at) {
    change(&pool, 1, 1002);
  }
  TX_END
}

// In a window that the program has opened itself (scute/shield_view.h), where there is a shield.
static void in_a_window(void) {
  int (*const begin)(const void *) = dlsym(RTLD_DEFAULT, "scute_shield_window_begin");
  int (*const end)(void) = dlsym(RTLD_DEFAULT, "scute_shield_window_end");
  print_result("window", begin != NULL ? begin(pool.bytes) : 0);
  TX_BEGIN(pool.at) {
    work();
  }
  TX_ONABORT {
    work_failed("the transaction");
  }
  TX_END
  TX_BEGIN(pool.at) {
    change(&pool, 1, 1001);
    pmemobj_tx_abort(EAGAIN);
  }
  TX_END
  print_result("window", end != NULL ? end() : 0);
}

const struct test_case cases_of_one[] = {{"commits", commits},
                                         {"aborts", aborts},
                                         {"aborts_by_hand", aborts_by_hand},
                                         {"commits_by_hand", commits_by_hand},
                                         {"jumps", jumps},
                                         {"fails_to_allocate", fails_to_allocate},
                                         {"fails_to_add", fails_to_add},
                                         {"fails_and_goes_on", fails_and_goes_on},
                                         {"inner_aborts", inner_aborts},
                                         {"outer_aborts", outer_aborts},
                                         {"nested", nested},
                                         {"aborts_and_commits", aborts_and_commits},
                                         {"left_inside", left_inside},
                                         {"left_in_an_inner_one", left_in_an_inner_one},
                                         {"left_in_an_abort", left_in_an_abort},
                                         {"left_when_durable", left_when_durable},
                                         {"aborts_what_is_durable", aborts_what_is_durable},
                                         {"left_between", left_between},
                                         {"in_a_window", in_a_window},
                                         {NULL, NULL}};
