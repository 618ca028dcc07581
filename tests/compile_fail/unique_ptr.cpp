// expect: must be trivially copyable
#include <scute/scute.hpp>

#include <memory>

struct owner {
#ifdef CONTROL
  scute::ptr<int> value;
#else
  std::unique_ptr<int> value;
#endif
};

void misuse(scute::tx& tx, scute::ptr<owner> p) {
  tx.open(p);
}
