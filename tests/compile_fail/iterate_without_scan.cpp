// expect: walked over with what reads it
#include <scute/containers.hpp>
#include <scute/scute.hpp>

struct root {
  scute::vector<int> list;
};

int use(const scute::pool& pool, scute::ptr<root> p) {
  int sum = 0;
#ifdef CONTROL
  for (const int x : pool.get(p).list.scan(pool)) sum += x;
#else
  for (const int x : pool.get(p).list) sum += x;
#endif
  return sum;
}
