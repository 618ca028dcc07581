// expect: must not hold raw pointers, references or views
#include <scute/scute.hpp>

struct node {
  int value;
#ifdef CONTROL
  scute::ptr<node> next;
#else
  node* next;
#endif
};

void misuse(scute::tx& tx) {
  tx.make<node>();
}
