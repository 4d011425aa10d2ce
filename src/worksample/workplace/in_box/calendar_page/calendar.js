// The calendar's page: it speaks CalDAV with the service behind it, as any other calendar program does.
import ICAL from '/page/ical.js';

const at = id => document.getElementById(id);
const DAV = 'xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"';
const MOST = 500; // repetitions of one event that are shown
const COLOURS = ['#0b57d0', '#8250df', '#bf3989', '#9a6700', '#1a7f37', '#cf222e', '#0e7490', '#57606a'];
let account = sessionStorage.getItem('account'), word = sessionStorage.getItem('word');
let people = [], shown = new Set(), calendar, opened = null;

async function ask(method, path, body, headers = {}) {
  return fetch(path, {
    method, body, credentials: 'omit', cache: 'no-store',
    headers: { Authorization: `Basic ${word}`, 'Content-Type': 'application/xml; charset=utf-8', ...headers },
  });
}
const folder = who => `/${encodeURIComponent(who)}/calendar/`;
const stamp = date => date.toISOString().replace(/[-:]|\.\d+/g, '');
const colour = who => COLOURS[Math.max(0, people.findIndex(one => one.login === who)) % COLOURS.length];
const nameOf = who => people.find(one => one.login === who)?.name ?? who;

async function read(who, from, to) {
  const query = `<c:calendar-query ${DAV}><d:prop><d:getetag/><c:calendar-data/></d:prop><c:filter><c:comp-filter name="VCALENDAR">`
    + `<c:comp-filter name="VEVENT"><c:time-range start="${stamp(from)}" end="${stamp(to)}"/></c:comp-filter></c:comp-filter></c:filter></c:calendar-query>`;
  const answer = await ask('REPORT', folder(who), query, { Depth: '1' });
  if (!answer.ok) return [];
  const tree = new DOMParser().parseFromString(await answer.text(), 'application/xml');
  return [...tree.getElementsByTagNameNS('DAV:', 'response')].flatMap(one => {
    const text = name => one.getElementsByTagNameNS('*', name)[0]?.textContent ?? '';
    try { return events(who, text('href'), text('getetag'), new ICAL.Component(ICAL.parse(text('calendar-data'))), from, to); }
    catch { return []; } // an event that another program wrote wrongly
  });
}

function events(who, href, etag, whole, from, to) {
  return whole.getAllSubcomponents('vevent').filter(one => !one.hasProperty('recurrence-id')).flatMap(part => {
    const event = new ICAL.Event(part), found = [];
    const add = (begins, ends) => found.push({
      title: event.summary || '(no title)', start: begins.toJSDate(), end: ends.toJSDate(), allDay: begins.isDate, color: colour(who),
      editable: who === account && !event.isRecurring(), extendedProps: { who, href, etag, whole, part },
    });
    if (!event.isRecurring()) add(event.startDate, event.endDate);
    else {
      const each = event.iterator();
      for (let count = 0, next = each.next(); next && count < MOST && next.toJSDate() < to; count++, next = each.next()) {
        const one = event.getOccurrenceDetails(next);
        if (one.endDate.toJSDate() > from) add(one.startDate, one.endDate);
      }
    }
    return found;
  });
}

function fill(form, values) {
  const local = date => date.toISOString().slice(0, 16);
  form.title.value = values.title; form.place.value = values.place; form.notes.value = values.notes;
  form.begins.value = local(values.begins); form.ends.value = local(values.ends);
  form.guests.replaceChildren(...people.filter(one => one.login !== values.who).map(one => {
    const option = new Option(one.name, one.login, false, values.guests.includes(one.mail));
    return option;
  }));
}

function open(found, begins, ends) {
  const form = document.querySelector('#event form').elements;
  const mine = !found || found.extendedProps.who === account;
  opened = found ? found.extendedProps : null;
  if (found) {
    const event = new ICAL.Event(opened.part);
    fill(form, {
      title: event.summary ?? '', place: event.location ?? '', notes: event.description ?? '', begins: event.startDate.toJSDate(), who: opened.who,
      ends: event.endDate.toJSDate(), guests: event.attendees.map(one => String(one.getFirstValue()).replace(/^mailto:/i, '')),
    });
  } else fill(form, { title: '', place: '', notes: '', begins, ends, guests: [], who: account });
  at('event-title').textContent = found ? 'Event' : 'New event';
  at('owner').textContent = `In the calendar of ${nameOf(found ? opened.who : account)}` + (found && new ICAL.Event(opened.part).isRecurring() ? ', repeated' : '');
  for (const field of form) field.disabled = !mine && field.id !== 'cancel';
  at('save').hidden = !mine; at('delete').hidden = !(found && mine); at('refused').hidden = true;
  at('event').showModal();
}

function refuse(text) { at('refused').textContent = text; at('refused').hidden = false; }
const time = value => { const made = ICAL.Time.fromJSDate(new Date(value), true); made.isDate = false; return made; };

async function save() {
  const form = document.querySelector('#event form').elements;
  const begins = `${form.begins.value}Z`, ends = `${form.ends.value}Z`;
  if (!(new Date(ends) > new Date(begins))) return refuse('The event ends before it begins.');
  const whole = opened?.whole ?? new ICAL.Component(['vcalendar', [], []]);
  const part = opened?.part ?? new ICAL.Component('vevent');
  if (!opened) {
    whole.updatePropertyWithValue('version', '2.0'); whole.updatePropertyWithValue('prodid', '-//worksample//calendar//EN');
    part.updatePropertyWithValue('uid', crypto.randomUUID?.() ?? [...crypto.getRandomValues(new Uint8Array(16))].map(one => one.toString(16).padStart(2, '0')).join(''));
    whole.addSubcomponent(part);
  }
  const event = new ICAL.Event(part);
  event.summary = form.title.value; event.startDate = time(begins); event.endDate = time(ends);
  for (const [key, value] of [['location', form.place.value], ['description', form.notes.value]])
    if (value) part.updatePropertyWithValue(key, value); else part.removeAllProperties(key);
  guests(part, [...form.guests.selectedOptions].map(one => people.find(person => person.login === one.value)));
  if (await store(whole, part, opened)) { at('event').close(); calendar.refetchEvents(); }
}

function guests(part, chosen) {
  const before = new Map(part.getAllProperties('attendee').map(one => [String(one.getFirstValue()).toLowerCase(), one]));
  part.removeAllProperties('attendee');
  for (const one of chosen) part.addProperty(before.get(`mailto:${one.mail}`) ?? new ICAL.Property(['attendee', { cn: one.name }, 'cal-address', `mailto:${one.mail}`]));
  const me = people.find(one => one.login === account);
  if (chosen.length && me && !part.hasProperty('organizer')) part.addProperty(new ICAL.Property(['organizer', {}, 'cal-address', `mailto:${me.mail}`]));
}

async function store(whole, part, kept) {
  part.updatePropertyWithValue('dtstamp', time(Date.now()));
  const path = kept?.href ?? `${folder(account)}${encodeURIComponent(part.getFirstPropertyValue('uid'))}.ics`;
  const guard = kept ? { 'If-Match': kept.etag } : { 'If-None-Match': '*' };
  const answer = await ask('PUT', path, whole.toString(), { 'Content-Type': 'text/calendar; charset=utf-8', ...guard });
  if (!answer.ok) refuse(answer.status === 412 ? 'Somebody changed this event meanwhile. Close it and open it again.' : `The calendar refused it (${answer.status}).`);
  return answer.ok;
}

async function move({ event, revert }) {
  const { whole, part } = event.extendedProps, one = new ICAL.Event(part);
  one.startDate = time(event.start); one.endDate = time(event.end ?? new Date(+event.start + 36e5));
  if (!await store(whole, part, event.extendedProps)) revert();
  calendar.refetchEvents();
}

async function remove() {
  const answer = await ask('DELETE', opened.href, undefined, { 'If-Match': opened.etag });
  if (!answer.ok) return refuse(`The calendar refused it (${answer.status}).`);
  at('event').close(); calendar.refetchEvents();
}

function list() {
  at('people').replaceChildren(...people.map(one => {
    const label = document.createElement('label'), box = document.createElement('input'), mark = document.createElement('i');
    box.type = 'checkbox'; box.checked = shown.has(one.login); mark.style.background = colour(one.login);
    box.onchange = () => { box.checked ? shown.add(one.login) : shown.delete(one.login); calendar.refetchEvents(); };
    label.append(box, mark, one.login === account ? `${one.name} (mine)` : one.name);
    return label;
  }));
}

async function begin() {
  const known = account && (await ask('PROPFIND', folder(account), undefined, { Depth: '0' })).status;
  at('sign-in').hidden = known === 207; at('office').hidden = known !== 207; at('out').hidden = known !== 207;
  if (known !== 207) { at('wrong').hidden = !account; account = null; return; }
  people = await (await fetch('/people.json')).json();
  people.sort((one, other) => (other.login === account) - (one.login === account) || one.name.localeCompare(other.name));
  at('who').textContent = nameOf(account);
  shown = new Set([account]);
  list();
  calendar = new FullCalendar.Calendar(at('calendar'), {
    initialView: 'timeGridWeek', timeZone: 'UTC', firstDay: 1, dayHeaderFormat: { weekday: 'short', day: 'numeric', month: 'short' }, nowIndicator: true, selectable: true, height: 'calc(100vh - 84px)', scrollTime: '07:30:00',
    headerToolbar: { left: 'prev,next today', center: 'title', right: 'dayGridMonth,timeGridWeek,timeGridDay,listWeek' }, slotDuration: '00:30:00',
    buttonText: { today: 'Today', month: 'Month', week: 'Week', day: 'Day', list: 'List' }, eventTimeFormat: { hour: '2-digit', minute: '2-digit', hour12: false },
    slotLabelFormat: { hour: '2-digit', minute: '2-digit', hour12: false }, now: () => new Date().toISOString(), editable: true, eventInteractive: true,
    events: async ({ start, end }) => (await Promise.all([...shown].map(who => read(who, start, end)))).flat(),
    eventClick: ({ event }) => open(event), select: ({ start, end }) => open(null, start, end), eventDrop: move, eventResize: move,
  });
  calendar.render();
}

at('sign-in').onsubmit = async given => {
  given.preventDefault();
  const form = at('sign-in').elements;
  account = form.account.value.trim();
  word = btoa(String.fromCharCode(...new TextEncoder().encode(`${account}:${form.password.value}`)));
  sessionStorage.setItem('account', account); sessionStorage.setItem('word', word);
  await begin();
};
at('out').onclick = () => { sessionStorage.clear(); location.reload(); };
at('new').onclick = () => { const hour = new Date(); hour.setUTCMinutes(60, 0, 0); open(null, hour, new Date(+hour + 36e5)); };
document.querySelector('#event form').onsubmit = given => { given.preventDefault(); save(); };
at('delete').onclick = remove;
at('cancel').onclick = () => at('event').close();
begin();
