// expect: walked over with what reads it
#include <scute/containers.hpp>
#include <scute/scute.hpp>

struct root {
  scute::ordered_map<int, int> index;
  scute::hash_map<int, int> table;
  scute::queue<int> jobs;
};

int use(const scute::pool& pool, scute::ptr<root> p) {
  int sum = 0;
#ifdef CONTROL
  for (const auto& [key, x] : pool.get(p).index.scan(pool)) sum += x;
  for (const auto& [key, x] : pool.get(p).table.scan(pool)) sum += x;
  for (const int x : pool.get(p).jobs.scan(pool)) sum += x;
#else
  for (const auto& [key, x] : pool.get(p).index) sum += x;
  for (const auto& [key, x] : pool.get(p).table) sum += x;
  for (const int x : pool.get(p).jobs) sum += x;
#endif
  return sum;
}
