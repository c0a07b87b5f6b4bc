import type { FaultRow } from './rows.ts'

/** What befalls the process itself and its state. */
export const faultsOfTheProcess: readonly FaultRow[] = [
  {
    id: 'F-PR-01',
    happens: 'SIGTERM or SIGINT',
    answer: 'no new work, a bounded time for what is under way, then doubt, commit and end',
    class: 'next scan',
    shownBy: {
      'sync/stopping.test.ts': ['what outlasts the grace of a stop is in doubt, and found later'],
      'journeys/interruptions.test.ts': [
        'the first Ctrl-C > says at once what it still waits for',
        'the first Ctrl-C > is no failure in the status',
      ],
      'journeys/exit-codes.test.ts': ['the process ends with > 130 when interrupted, and the next run completes'],
      'remote/uploads.test.ts': ['doubt > is the end of an abort on the way'],
    },
  },
  {
    id: 'F-PR-02',
    happens: 'a second signal',
    answer: 'the end at once; what was under way is in doubt',
    class: 'doubt',
    shownBy: {
      'journeys/interruptions.test.ts': ['the second Ctrl-C > ends at once and says what is left'],
    },
  },
  {
    id: 'F-PR-03',
    happens: 'SIGKILL, or the power fails',
    answer: 'what was under way is in doubt for the next start; no lock stays',
    class: 'doubt',
    shownBy: {
      'journeys/kills.test.ts': ['a process killed while it uploads > leaves nothing that the next run cannot mend'],
      'journeys/under-way.test.ts': [
        'an upload of %j > is a doubt only when its process is gone',
        'an upload of %j > stays a doubt for whoever comes next',
      ],
      'journeys/daemon-weather.test.ts': ['signals at random moments > lose nothing and leave no stale lock'],
      'daemon/control.test.ts': ['the control socket > replaces what a killed daemon left'],
    },
  },
  {
    id: 'F-PR-04',
    happens: 'an exception that nobody catches',
    answer: 'the process ends with a code that lets the service manager start it again',
    class: 'halt',
    shownBy: {
      'journeys/uncaught.test.ts': ['an exception that nobody catches ends the daemon, to be started again'],
      'app/service-manager/definitions.test.ts': ['the units of systemd > %s is not restarted after final ends'],
    },
  },
  {
    id: 'F-PR-05',
    happens: 'the store is deleted or replaced while it is open',
    answer: 'the daemon ends with exit 78 instead of writing into nothing',
    class: 'halt',
    shownBy: {
      'journeys/daemon-guards.test.ts': [
        'a store that is deleted under the daemon > ends it, and the next one asks before it sends (P14)',
      ],
    },
  },
  {
    id: 'F-PR-06',
    happens: 'another connection writes to the store meanwhile',
    answer: 'every transaction begins as a writer (`BEGIN IMMEDIATE`), so that none fails half way',
    class: 'retry',
    shownBy: { 'store/writing.test.ts': ['a transaction > is a writer before it reads'] },
  },
  {
    id: 'F-PR-07',
    happens: 'a kill in the middle of a migration',
    answer: 'the store is as it was before or as it is after, and the backup is whole',
    class: 'retry',
    shownBy: {
      'foundation/sqlite/open-database.test.ts': [
        'a migration > that is cut off anywhere is whole or has not begun (P23)',
        'a migration > killed while it backs up leaves no half backup (P23)',
      ],
    },
  },
  {
    id: 'F-PR-08',
    happens: 'cron starts a run while the daemon runs',
    answer: 'the daemon is asked to do it; a store that another process holds is exit 11',
    class: 'accepted',
    shownBy: {
      'journeys/beside-daemon.test.ts': ['sync beside a daemon > is done by it, with the same account'],
      'journeys/daemon-control.test.ts': ['beside the daemon > sync, report and search go through it'],
      'journeys/exit-codes.test.ts': ['the process ends with > 11 when another instance holds the store'],
    },
  },
]
