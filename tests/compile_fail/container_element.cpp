// expect: must not hold raw pointers, references or views
#include <scute/containers.hpp>
#include <scute/scute.hpp>

#ifdef CONTROL
using reference = scute::ptr<int>;
#else
using reference = int*;
#endif

struct root {
  scute::vector<reference> links;
};

void misuse(scute::tx& tx, scute::ptr<root> p) {
  tx.open(p).links.emplace_back(tx);
}
