// expect: must not hold raw pointers, references or views
#include <scute/scute.hpp>

struct name {
#ifdef CONTROL
  char text[2][16];
#else
  const char* text[2];
#endif
};
struct person {
  int age;
  struct {
    name first;
  } names[3];
};

void misuse(const scute::pool& pool) {
  pool.root<person>();
}
