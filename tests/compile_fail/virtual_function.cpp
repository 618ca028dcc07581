// expect: must be trivially copyable
#include <scute/scute.hpp>

struct shape {
#ifndef CONTROL
  virtual double area() const { return 0; }
#endif
  double side;
};

void misuse(scute::tx& tx, scute::ptr<shape> p) {
  tx.open(p);
}
