// expect: it has a reference, const or
#include <scute/scute.hpp>

struct watcher {
#ifdef CONTROL
  scute::ptr<int> watched;
#else
  const int& watched;
#endif
};

void misuse(scute::tx& tx, scute::ptr<watcher> p) {
  tx.open(p);
}
