#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <scute/pow.hpp>
#include <string>

struct account {
  int64_t balance;
};

int main(int argc, char** argv) {
  scute::pow::store db(argc > 1 ? argv[1] : "accounts.pow");
  std::mutex mutex;
  scute::pow::map<std::string, account> accounts(db, "accounts");
  for (long n = argc > 2 ? std::atol(argv[2]) : 1; n > 0; --n) {
    auto s = db.section(mutex);  // takes the lock
    accounts.edit("ann").balance -= 5;
    accounts.edit("bob").balance += 5;
    s.commit();  // durable, then unlocked
  }
  int64_t sum = 0;
  for (const auto& [name, a] : accounts) {  // a plain read of memory
    std::cout << name << ' ' << a.balance << '\n';
    sum += a.balance;
  }
  return sum == 0 ? 0 : 1;
}
