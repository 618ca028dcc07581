// expect: so it needs a name
#include <scute/pow.hpp>

#include <cstdint>

class account {
 public:
  account() = default;
  explicit account(int64_t balance) : balance_(balance) {}
  int64_t balance() const { return balance_; }

 private:
  int64_t balance_ = 0;
};
#ifdef CONTROL
SCUTE_TYPE(account, "account")
#endif

void use(scute::pow::store& db) {
  scute::pow::map<int, account> accounts(db, "accounts");
}
