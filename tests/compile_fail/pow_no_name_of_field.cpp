// expect: so it needs a name
#include <scute/pow.hpp>

#include <array>
#include <cstdint>

class money {
 public:
  money() = default;
  int64_t cents() const { return cents_; }

 private:
  int64_t cents_ = 0;
};
struct account {
  std::array<money, 2> balances;
};
#ifdef CONTROL
SCUTE_TYPE(money, "money")
#endif

void use(scute::pow::store& db) {
  scute::pow::vector<account> accounts(db, "accounts");
}
