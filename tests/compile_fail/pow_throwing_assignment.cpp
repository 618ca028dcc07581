// expect: must have a move assignment that is noexcept
#include <scute/pow.hpp>

#include <string>

struct account {
  account() = default;
  account(const account&) = default;
  account& operator=(const account&) = default;
#ifdef CONTROL
  account(account&&) = default;
  account& operator=(account&&) = default;
#endif
  std::string name;
};
template <>
struct scute::pow::codec<account> {
  static void encode(const account& a, bytes_out& out) { out.put(a.name); }
  static void decode(account& a, bytes_in& in) { in.get(a.name); }
};
SCUTE_TYPE(account, "account")

void use(scute::pow::store& db) {
  scute::pow::map<int, account> accounts(db, "accounts");
}
