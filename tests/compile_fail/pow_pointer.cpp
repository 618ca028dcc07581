// expect: must not hold raw pointers, references or views
#include <scute/pow.hpp>

struct node {
  int value = 0;
#ifdef CONTROL
  scute::pow::ref<node> next{};
#else
  node* next = nullptr;
#endif
};

void use(scute::pow::store& db) {
  scute::pow::table<node> nodes(db, "nodes");
}
