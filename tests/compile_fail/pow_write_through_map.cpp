// expect: read-only|const
// It is an ordinary assignment through the const reference from at(): the message is the
// compiler's own.
#include <scute/pow.hpp>

void use(scute::pow::map<int, int>& m) {
#ifdef CONTROL
  m.edit(1) = 2;
#else
  m.at(1) = 2;
#endif
}
