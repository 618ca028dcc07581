// expect: an object type without const or volatile
#include <scute/scute.hpp>

struct account {
  long balance;
};

#ifdef CONTROL
using pointer = scute::ptr<account>;
#else
using pointer = scute::ptr<const account>;
#endif

void use(scute::tx& tx, pointer p) {
  tx.edit(p, &account::balance) = 5;
}
