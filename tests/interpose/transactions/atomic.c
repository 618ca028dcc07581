// SPDX-License-Identifier: BSD-3-Clause
// Lists, and atomic allocations whose constructor fails, or does not return.
#include <errno.h>
#include <setjmp.h>
#include <string.h>

#include "pool.h"

static TOID(struct item) item_of(uint64_t number) {
  TOID(struct item) item;
  POBJ_FOREACH_TYPE(pool.at, item)
  if (D_RO(item)->number == number) return item;
  work_failed("an item");
  return TOID_NULL(struct item);
}

static int number_item(PMEMobjpool *at, void *object, void *number) {
  struct item *item = object;
  memset(item, 0, sizeof *item);
  item->number = *(uint64_t *)number;
  pmemobj_persist(at, item, sizeof *item);
  return 0;
}

static void inserts(void) {
  uint64_t number = 21;
  POBJ_LIST_INSERT_NEW_HEAD(pool.at, &pool.bytes->first, first, sizeof(struct item), number_item,
                            &number);
  report(&pool, 21);
  print_result("insert",
               POBJ_LIST_INSERT_AFTER(pool.at, &pool.bytes->first, item_of(2), item_of(11), first));
  print_result("insert", POBJ_LIST_INSERT_TAIL(pool.at, &pool.bytes->first, item_of(12), first));
  report(&pool, 22);
}

static void moves(void) {
  print_result("move", POBJ_LIST_MOVE_ELEMENT_HEAD(pool.at, &pool.bytes->first, &pool.bytes->second,
                                                   item_of(3), first, second));
  report(&pool, 23);
  print_result("move",
               POBJ_LIST_MOVE_ELEMENT_AFTER(pool.at, &pool.bytes->second, &pool.bytes->first,
                                            item_of(1), item_of(12), second, first));
  report(&pool, 24);
}

static void removes(void) {
  print_result("remove", POBJ_LIST_REMOVE(pool.at, &pool.bytes->first, item_of(1), first));
  report(&pool, 25);
  print_result("remove", POBJ_LIST_REMOVE_FREE(pool.at, &pool.bytes->first, item_of(4), first));
  print_result("remove", POBJ_LIST_REMOVE_FREE(pool.at, &pool.bytes->second, item_of(11), second));
  report(&pool, 26);
}

// A list call alone is durable when it returns.
static void inserts_last(void) {
  print_result("insert", POBJ_LIST_INSERT_TAIL(pool.at, &pool.bytes->first, item_of(12), first));
}

static int fails(PMEMobjpool *at, void *object, void *arg) {
  (void)arg;
  memset(object, 'x', sizeof(struct blob));
  pmemobj_persist(at, object, sizeof(struct blob));
  return 1;
}

static void constructor_fails(void) {
  print_result("alloc", POBJ_ALLOC(pool.at, &pool.bytes->other, struct blob, sizeof(struct blob),
                                   fails, NULL));
  TOID(struct item) none = TOID_NULL(struct item);
  errno = 0;
  TOID_ASSIGN(none, pmemobj_list_insert_new(pool.at, offsetof(struct item, first),
                                            &pool.bytes->first, OID_NULL, 0, sizeof(struct item),
                                            TOID_TYPE_NUM(struct item), fails, NULL));
  print_result("insert", TOID_IS_NULL(none));
  report(&pool, 27);
}

static void constructs(void) {
  print_result("alloc", POBJ_ALLOC(pool.at, &pool.bytes->other, struct blob, sizeof(struct blob),
                                   construct, "of an atomic call"));
}

// libpmemobj keeps the call's locks: its close() would end the program, and so would another object
// of this size.
static jmp_buf out;
static int leaves(PMEMobjpool *at, void *object, void *arg) {
  (void)at, (void)object, (void)arg;
  longjmp(out, 1);
}
static void constructor_jumps(void) {
  if (setjmp(out) == 0)
    POBJ_ALLOC(pool.at, &pool.bytes->other, struct blob, sizeof(struct blob), leaves, NULL);
  TX_BEGIN(pool.at) {
    change(&pool, 1, 1001);
  }
  TX_ONABORT {
    work_failed("the transaction");
  }
  TX_END
  print_result("tx", pmemobj_tx_errno());
}

static void constructor_jumps_then_persists(void) {
  constructor_jumps();
  report(&pool, 28);
}

// In a transaction, which is aborted from there.
static int aborts(PMEMobjpool *at, void *object, void *arg) {
  (void)at, (void)object, (void)arg;
  pmemobj_tx_abort(EAGAIN);
  return 0;
}
static void constructor_jumps_by_an_abort(void) {
  TX_BEGIN(pool.at) {
    change(&pool, 1, 1001);
    POBJ_ALLOC(pool.at, &pool.bytes->other, struct blob, sizeof(struct blob), aborts, NULL);
    work_failed("the constructor has returned");
  }
  TX_ONABORT {
    print_result("on abort", pmemobj_tx_errno());
  }
  TX_END
  report(&pool, 30);
}

static int ends(PMEMobjpool *at, void *object, void *text) {
  construct(at, object, text);
  here();
  return 0;
}
static void in_the_middle_of_an_allocation(void) {
  print_result("alloc", POBJ_ALLOC(pool.at, &pool.bytes->other, struct blob, sizeof(struct blob),
                                   ends, "of an atomic call"));
}

// Atomic calls in a transaction that is aborted stay. libpmemobj decides whether they are undone.
static void in_a_transaction(void) {
  TX_BEGIN(pool.at) {
    change(&pool, 1, 1001);
    print_result("alloc", POBJ_ALLOC(pool.at, &pool.bytes->other, struct blob, sizeof(struct blob),
                                     construct, "of an atomic call"));
    print_result("insert", POBJ_LIST_INSERT_TAIL(pool.at, &pool.bytes->first, item_of(12), first));
    pmemobj_tx_abort(EAGAIN);
  }
  TX_END
  report(&pool, 29);
}

const struct test_case cases_of_atomic_calls[] = {
    {"inserts", inserts},
    {"moves", moves},
    {"removes", removes},
    {"inserts_last", inserts_last},
    {"constructor_fails", constructor_fails},
    {"constructs", constructs},
    {"constructor_jumps", constructor_jumps},
    {"constructor_jumps_then_persists", constructor_jumps_then_persists},
    {"constructor_jumps_by_an_abort", constructor_jumps_by_an_abort},
    {"in_the_middle_of_an_allocation", in_the_middle_of_an_allocation},
    {"in_a_transaction", in_a_transaction},
    {NULL, NULL}};
