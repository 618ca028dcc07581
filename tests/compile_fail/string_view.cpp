// expect: must not hold raw pointers, references or views
#include <scute/containers.hpp>
#include <scute/scute.hpp>

#include <string_view>

struct person {
#ifdef CONTROL
  scute::string name;
#else
  std::string_view name;
#endif
};

void misuse(const scute::pool& pool, scute::ptr<person> p) {
  pool.get(p);
}
