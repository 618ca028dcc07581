// expect: pass the mutex, not a std::unique_lock
#include <scute/pow.hpp>

#include <mutex>

void use(scute::pow::store& db, std::mutex& a, std::mutex& b) {
#ifdef CONTROL
  auto s = db.section(a, b);
#else
  std::scoped_lock hold(a, b);
  auto s = db.section(hold);
#endif
  s.commit();
}
