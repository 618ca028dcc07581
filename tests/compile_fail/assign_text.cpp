// expect: a text takes memory of the pool
#include <scute/containers.hpp>
#include <scute/scute.hpp>

struct person {
  scute::string name;
};

void use(scute::tx& tx, scute::ptr<person> p) {
#ifdef CONTROL
  tx.edit(p, &person::name).assign(tx, "Ada");
#else
  tx.edit(p, &person::name) = "Ada";
#endif
}
