// expect: so it needs a name
#include <scute/pow.hpp>

#include <string>

struct account {
  std::string name;
};
template <>
struct scute::pow::codec<account> {
  static void encode(const account& a, bytes_out& out) { out.put(a.name); }
  static void decode(account& a, bytes_in& in) { in.get(a.name); }
};
#ifdef CONTROL
SCUTE_TYPE(account, "account")
#endif

void use(scute::pow::store& db) {
  scute::pow::value<account> first(db, "first");
}
