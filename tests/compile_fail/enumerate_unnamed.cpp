// expect: only types with a number can be enumerated
#include <scute/scute.hpp>

struct account {
  long balance;
};
#ifdef CONTROL
SCUTE_TYPE(account, "account")
#endif

void misuse(const scute::pool& pool) {
  for (const scute::ptr<account> p : pool.objects<account>()) {
    pool.get(p);
  }
}
