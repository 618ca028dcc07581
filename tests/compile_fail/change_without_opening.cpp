// expect: (discards qualifiers|const)
#include <scute/containers.hpp>
#include <scute/scute.hpp>

struct root {
  scute::vector<int> list;
};

void misuse(const scute::pool& pool, scute::tx& tx, scute::ptr<root> p) {
#ifdef CONTROL
  (void)pool;
  tx.edit(p, &root::list).push_back(tx, 1);
#else
  pool.get(p).list.push_back(tx, 1);
#endif
}
