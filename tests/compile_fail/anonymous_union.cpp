// expect: must not have a union without a name
#include <scute/scute.hpp>

#include <cstdint>

struct cell {
  uint64_t kind;
#ifdef CONTROL
  union number {
    int64_t whole;
    double real;
  };
  number value;
#else
  union {
    int64_t whole;
    double real;
  };
#endif
};

struct sheet {
  uint32_t rows;
  cell first;
};

void misuse(scute::tx& tx) {
  tx.make<sheet>();
}
