#!/usr/bin/env bash
# When a transaction of libpmemobj reaches TX_ONCOMMIT, or pmemobj_tx_commit() has returned, its
# changes are durable, though it has not ended yet (OBJ-3). A power failure then loses nothing. Of
# an inner transaction it loses neither more nor less than libpmemobj does. The same holds for what
# a program makes durable after an abort, in an aborted transaction, and in callbacks of stages
# (OBJ-4).
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

cat >commits.c <<'C'
// commits FILE WAY: creates FILE; shows it; or commits 5 by a transaction and lets the power fail
// there (it kills its parent, which holds the view, and itself).
#include <libpmemobj.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
struct root {
  long outer, inner;
};
static void fail_power(void) {
  kill(getppid(), SIGKILL);
  kill(getpid(), SIGKILL);
}
static void set(PMEMobjpool *pop, PMEMoid at, size_t offset) {
  (void)pop;
  pmemobj_tx_add_range(at, offset, sizeof(long));
  *(long *)((char *)pmemobj_direct(at) + offset) = 5;
}
static const char *way;
static PMEMoid at;
static void set_inner(PMEMobjpool *pop) {
  long *const inner = &((struct root *)pmemobj_direct(at))->inner;
  *inner = 5;
  pmemobj_persist(pop, inner, sizeof *inner);
}
static void on_stage(PMEMobjpool *pop, enum pobj_tx_stage stage, void *arg) {
  if (strcmp(way, "callback") == 0 && stage == TX_STAGE_ONCOMMIT) fail_power();
  const int wanted = strcmp(way, "cb_commit") == 0 ? TX_STAGE_ONCOMMIT : strcmp(way, "cb_abort") == 0 ? TX_STAGE_ONABORT : strcmp(way, "cb_finally") == 0 ? TX_STAGE_FINALLY : -1;
  if ((int)stage != wanted) {
    if (arg != NULL) printf("stage %d\n", stage);
    return;
  }
  set_inner(pop);
  fail_power();
}
static void other(PMEMobjpool *pop, enum pobj_tx_stage stage, void *arg) {
  (void)pop;
  if (strcmp(way, "cb_inner") == 0 && stage == TX_STAGE_ONCOMMIT) fail_power();
  (void)arg;
  printf("other %d\n", stage);
}
int main(int argc, char **argv) {
  if (argc != 3) return 2;
  way = argv[2];
  PMEMobjpool *const pop = strcmp(way, "create") == 0 ? pmemobj_create(argv[1], "commits", PMEMOBJ_MIN_POOL, 0600) : pmemobj_open(argv[1], "commits");
  if (pop == NULL) return fprintf(stderr, "%s\n", pmemobj_errormsg()), 3;
  at = pmemobj_root(pop, sizeof(struct root));
  const struct root *const r = pmemobj_direct(at);
  const size_t inner = offsetof(struct root, inner);
  setvbuf(stdout, NULL, _IONBF, 0);
  if (strcmp(way, "show") == 0) printf("%ld %ld\n", r->outer, r->inner);
  if (strcmp(way, "stage") == 0) {
    TX_BEGIN(pop) { set(pop, at, 0); }
    TX_ONCOMMIT { fail_power(); }
    TX_END
  } else if (strcmp(way, "finally") == 0) {
    TX_BEGIN(pop) { set(pop, at, 0); }
    TX_FINALLY { fail_power(); }
    TX_END
  } else if (strcmp(way, "call") == 0) {
    jmp_buf env;
    if (setjmp(env) != 0) return 4;
    pmemobj_tx_begin(pop, env, TX_PARAM_NONE);
    set(pop, at, 0);
    pmemobj_tx_commit();
    fail_power();
  } else if (strcmp(way, "after") == 0) {
    jmp_buf env;
    if (setjmp(env) != 0) return 4;
    pmemobj_tx_begin(pop, env, TX_PARAM_NONE);
    set(pop, at, 0);
    pmemobj_tx_commit();
    ((struct root *)pmemobj_direct(at))->inner = 5;
    pmemobj_persist(pop, &r->inner, sizeof r->inner);
    fail_power();
  } else if (strcmp(way, "at_end") == 0) {
    TX_BEGIN(pop) { set(pop, at, 0); }
    TX_FINALLY {
      ((struct root *)pmemobj_direct(at))->inner = 5;
      pmemobj_persist(pop, &r->inner, sizeof r->inner);
      fail_power();
    }
    TX_END
  } else if (strcmp(way, "inner") == 0) {
    TX_BEGIN(pop) {
      set(pop, at, 0);
      TX_BEGIN(pop) { set(pop, at, inner); }
      TX_ONCOMMIT { fail_power(); }
      TX_END
    }
    TX_END
  } else if (strcmp(way, "in_inner") == 0) {  // durable by itself, and the transactions are not
    TX_BEGIN(pop) {
      set(pop, at, 0);
      TX_BEGIN(pop) {}
      TX_ONCOMMIT {
        set_inner(pop);
        fail_power();
      }
      TX_END
    }
    TX_END
  } else if (strcmp(way, "hundred") == 0) {
    for (int i = 0; i < 100; ++i) {
      TX_BEGIN(pop) {
        set(pop, at, 0);
        TX_BEGIN(pop) { set(pop, at, inner); }
        TX_END
      }
      TX_END
    }
  } else if (strcmp(way, "both") == 0) {
    TX_BEGIN(pop) {
      set(pop, at, 0);
      TX_BEGIN(pop) { set(pop, at, inner); }
      TX_END
    }
    TX_ONCOMMIT { fail_power(); }
    TX_END
  }
  if (strcmp(way, "aborted") == 0) {
    TX_BEGIN(pop) {
      set(pop, at, 0);
      pmemobj_tx_abort(4);
    }
    TX_ONABORT {
      set_inner(pop);
      fail_power();
    }
    TX_END
  } else if (strcmp(way, "unlogged") == 0) {
    TX_BEGIN(pop) {
      set(pop, at, 0);
      set_inner(pop);
      pmemobj_tx_abort(4);
    }
    TX_ONABORT { fail_power(); }
    TX_END
  } else if (strcmp(way, "returns") == 0) {
    pmemobj_tx_begin(pop, NULL, TX_PARAM_NONE);
    set(pop, at, 0);
    set_inner(pop);
    pmemobj_tx_abort(4);
    fail_power();
  } else if (strcmp(way, "cb_commit") == 0 || strcmp(way, "cb_finally") == 0 || strcmp(way, "callback") == 0) {
    TX_BEGIN_CB(pop, on_stage, NULL, TX_PARAM_NONE) { set(pop, at, 0); }
    TX_END
  } else if (strcmp(way, "cb_inner") == 0) {  // set by an inner one, after a transaction that had another
    TX_BEGIN_CB(pop, on_stage, NULL, TX_PARAM_NONE) {}
    TX_END
    TX_BEGIN(pop) {
      set(pop, at, 0);
      TX_BEGIN_CB(pop, other, NULL, TX_PARAM_NONE) {}
      TX_END
    }
    TX_END
  } else if (strcmp(way, "cb_abort") == 0) {
    TX_BEGIN_CB(pop, on_stage, NULL, TX_PARAM_NONE) {
      set(pop, at, 0);
      pmemobj_tx_abort(4);
    }
    TX_END
  } else if (strcmp(way, "reported") == 0) {  // the arguments of callbacks, and that there is only one of them
    TX_BEGIN_CB(pop, on_stage, &at, TX_PARAM_NONE) {
      set(pop, at, 0);
      TX_BEGIN_CB(pop, on_stage, &at, TX_PARAM_NONE) { puts("the same"); }
      TX_END
    }
    TX_END
    TX_BEGIN(pop) {
      TX_BEGIN_CB(pop, other, NULL, TX_PARAM_NONE) { puts("inside"); }
      TX_END
    }
    TX_END
    TX_BEGIN(pop) { puts("none"); }
    TX_END
    if (fork() == 0) {  // a second one is refused, by abort()
      TX_BEGIN_CB(pop, on_stage, &at, TX_PARAM_NONE) {
        TX_BEGIN_CB(pop, other, NULL, TX_PARAM_NONE) { puts("two"); }
        TX_END
      }
      TX_END
      _exit(0);
    }
    int status = 0;
    wait(&status);
    printf("ended by %d\n", WTERMSIG(status));
  }
  pmemobj_close(pop);
  return 0;
}
C
gcc -O1 -Wall -Wextra -Wno-clobbered -o commits commits.c -lpmemobj

file=$pools/file
for way in stage finally call after at_end both inner aborted unlogged returns callback cb_commit cb_finally cb_inner cb_abort in_inner; do
  rm -f "$file"*
  expect 0 ./commits "$file" create
  expect 0 "$scute" shield add "$file"
  expect 137 "$scute" shield run "${run_with[@]}" -- ./commits "$file" $way
  checked 0 "$file"
  expect 0 "$scute" shield run -- ./commits "$file" show
  case $way in
    inner) wanted='0 0' ;;  # the outer one has not committed
    both | after | at_end | cb_commit | cb_finally) wanted='5 5' ;;
    aborted | unlogged | returns | cb_abort | in_inner) wanted='0 5' ;;
    *) wanted='5 0' ;;
  esac
  equal "$way: $(cat out)" "$way: $wanted"
  sound "$file"
done

rm -f "$file"*
expect 0 ./commits "$file" create
expect 0 ./commits "$file" reported
mv out reported
expect 0 "$scute" shield add "$file"
expect 0 "$scute" shield run "${run_with[@]}" -- ./commits "$file" reported
diff reported out || fail "callbacks have other arguments"
sound "$file"

# An inner transaction costs no commit (OBJ-4).
rm -f "$file"*
expect 0 ./commits "$file" create
expect 0 "$scute" shield add "$file"
expect 0 "$scute" shield audit --json "${run_with[@]}" -- ./commits "$file" hundred
commits=$(grep -o '"commits": *[0-9]*' out | tail -n 1 | grep -o '[0-9]*$')
[ "$commits" -ge 100 ] && [ "$commits" -lt 150 ] || fail "$commits commits for 100 transactions"
sound "$file"
