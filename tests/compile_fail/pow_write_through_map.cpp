// expect: read-only|const
#include <scute/pow.hpp>

void use(scute::pow::map<int, int>& m) {
#ifdef CONTROL
  m.edit(1) = 2;
#else
  m.at(1) = 2;
#endif
}
