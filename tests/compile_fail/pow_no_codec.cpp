// expect: must be trivially copyable, or have a scute::pow::codec
#include <scute/pow.hpp>

#include <string>

struct account {
  std::string name;
};
#ifdef CONTROL
template <>
struct scute::pow::codec<account> {
  static void encode(const account& a, bytes_out& out) { out.put(a.name); }
  static void decode(account& a, bytes_in& in) { in.get(a.name); }
};
SCUTE_TYPE(account, "account")
#endif

void use(scute::pow::store& db) {
  scute::pow::map<int, account> accounts(db, "accounts");
}
