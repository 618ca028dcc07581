// expect: a map with scute::string keys is asked with a std::string_view
#include <scute/containers.hpp>
#include <scute/scute.hpp>

struct root {
  scute::ordered_map<scute::string, int> map;
};

bool misuse(const scute::pool& pool, scute::ptr<root> p) {
#ifdef CONTROL
  return pool.get(p).map.contains(pool, "5");
#else
  return pool.get(p).map.contains(pool, 5);
#endif
}
