// expect: must be trivially copyable: std::string, std::vector
#include <scute/containers.hpp>
#include <scute/scute.hpp>

#include <vector>

#ifdef CONTROL
using list = scute::vector<int>;
#else
using list = std::vector<int>;
#endif

void misuse(const scute::pool& pool) {
  pool.root<list>();
}
