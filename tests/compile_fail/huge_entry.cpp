// expect: store a ptr to larger ones
#include <scute/containers.hpp>
#include <scute/scute.hpp>

struct page {
  char bytes[2000];
};
struct root {
#ifdef CONTROL
  scute::ordered_map<int, scute::ptr<page>> map;
#else
  scute::ordered_map<int, page> map;
#endif
};

void misuse(scute::tx& tx, scute::ptr<root> p) {
  tx.open(p).map.try_emplace(tx, 1);
}
