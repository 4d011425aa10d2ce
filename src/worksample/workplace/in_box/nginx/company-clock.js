(() => {
  const shift = $msec * 1000 - Date.now();
  if (Math.abs(shift) < 60000) return;
  const Real = Date, now = () => Math.round(Real.now() + shift);
  const Company = new Proxy(Real, {
    construct: (target, given, made) => Reflect.construct(target, given.length ? given : [now()], made === Company ? target : made),
    apply: () => new Real(now()).toString(),
    get: (target, key) => key === 'now' ? now : Reflect.get(target, key),
  });
  Real.prototype.constructor = Company;
  globalThis.Date = Company;
})();
