// expect: pass the mutex, not a std::unique_lock
#include <scute/pow.hpp>

#include <shared_mutex>

void use(scute::pow::store& db, std::shared_mutex& mutex) {
#ifdef CONTROL
  scute::pow::shared reading(mutex);
#else
  std::shared_lock hold(mutex);
  scute::pow::shared reading(hold);
#endif
  auto s = db.section(reading);
  s.commit();
}
