// expect: (read-only|not assignable|const)
// It is an ordinary assignment through the const reference from get(): the message is the
// compiler's own.
#include <scute/scute.hpp>

struct account {
  long balance;
};

void misuse(scute::pool& pool, scute::tx& tx, scute::ptr<account> p) {
#ifdef CONTROL
  (void)pool;
  tx.open(p).balance = 5;
#else
  (void)tx;
  pool.get(p).balance = 5;
#endif
}
