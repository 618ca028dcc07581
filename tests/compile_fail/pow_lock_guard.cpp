// expect: pass the mutex, not a std::unique_lock
#include <scute/pow.hpp>

#include <mutex>

void use(scute::pow::store& db, std::mutex& mutex) {
#ifdef CONTROL
  auto s = db.section(mutex, scute::pow::later);
#else
  std::lock_guard hold(mutex);
  auto s = db.section(hold, scute::pow::later);
#endif
  s.commit();
}
