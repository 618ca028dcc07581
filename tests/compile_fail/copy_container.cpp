// expect: (deleted|implicitly-deleted)
#include <scute/containers.hpp>
#include <scute/scute.hpp>

struct root {
  scute::vector<int> list;
};

void misuse(const scute::pool& pool, scute::ptr<root> p) {
#ifdef CONTROL
  const auto& list = pool.get(p).list;
#else
  const auto list = pool.get(p).list;
#endif
  (void)list.size();
}
