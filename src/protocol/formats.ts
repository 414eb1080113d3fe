/** Owns the four string formats of forms. Every check takes time in proportion to the text. */

const EMAIL = /^[^\s@]+@[^\s@]+$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|[+-](\d{2}):(\d{2}))$/;
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;

const checks: ReadonlyMap<string, (value: string) => boolean> = new Map([
  ["email", isEmail],
  ["uri", isUri],
  ["date", isDate],
  ["date-time", isDateTime],
]);

/** What is wrong with the text, or undefined. Formats that forms do not have are not checked. */
export function formatProblem(format: string, value: string): string | undefined {
  const check = checks.get(format);
  return check === undefined || check(value) ? undefined : `expected the format ${format}`;
}

function isEmail(value: string): boolean {
  return value.length <= 320 && EMAIL.test(value);
}

function isUri(value: string): boolean {
  return SCHEME.test(value) && !/[\s\\]/.test(value) && URL.canParse(value);
}

function isDate(value: string): boolean {
  const [, year, month, day] = DATE.exec(value) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  // Day 0 of the next month is the last of this one. The year 2000+ stands in where Date would read 0–99 as 1900+.
  const last = new Date(Date.UTC(Number(year) + 2000, Number(month), 0)).getUTCDate();
  return Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= last;
}

function isDateTime(value: string): boolean {
  const [, hour, minute, second, zoneHour = "0", zoneMinute = "0"] = TIME.exec(value.slice(11)) ?? [];
  if (hour === undefined || !/^[Tt ]$/.test(value.charAt(10)) || !isDate(value.slice(0, 10))) return false;
  // 60: a leap second.
  return (
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(second) <= 60 &&
    Number(zoneHour) < 24 &&
    Number(zoneMinute) < 60
  );
}
