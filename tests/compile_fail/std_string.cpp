// expect: must be trivially copyable: std::string
#include <scute/containers.hpp>
#include <scute/scute.hpp>

#include <string>

struct person {
#ifdef CONTROL
  scute::string name;
#else
  std::string name;
#endif
};

void misuse(scute::tx& tx) {
  tx.make<person>();
}
