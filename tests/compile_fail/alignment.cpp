// expect: aligned to at most 32 bytes
#include <scute/scute.hpp>

#ifdef CONTROL
struct alignas(32) wide {
#else
struct alignas(64) wide {
#endif
  int value;
};

void misuse(scute::tx& tx) {
  tx.make<wide>();
}
