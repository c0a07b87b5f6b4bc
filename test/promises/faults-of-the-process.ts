import type { FaultRow } from './rows.ts'

/** Faults of the process itself and its state. */
export const faultsOfTheProcess: readonly FaultRow[] = [
  {
    id: 'F-PR-01',
    happens: 'SIGTERM or SIGINT',
    answer: 'no new work, a bounded time for uploads under way, then doubt, commit and end',
    class: 'next scan',
  },
  {
    id: 'F-PR-02',
    happens: 'a second signal',
    answer: 'the process ends at once; uploads under way are in doubt',
    class: 'doubt',
  },
  {
    id: 'F-PR-03',
    happens: 'SIGKILL, or the power fails',
    answer: 'uploads under way are in doubt at the next start; no lock stays',
    class: 'doubt',
  },
  {
    id: 'F-PR-04',
    happens: 'an uncaught exception',
    answer: 'the process ends with a code that lets the service manager start it again',
    class: 'halt',
  },
  {
    id: 'F-PR-05',
    happens: 'a file of the store, or its directory, is deleted, replaced, overwritten or unmounted while it is open',
    answer:
      'looked at before each commit of intents: the run and the daemon end with exit 78, and nothing more is sent',
    class: 'halt',
  },
  {
    id: 'F-PR-06',
    happens: 'another connection writes to the store meanwhile',
    answer: 'every transaction begins as a writer (`BEGIN IMMEDIATE`), so that none fails half way',
    class: 'retry',
  },
  {
    id: 'F-PR-07',
    happens: 'a kill in the middle of a migration',
    answer: 'the store is either in its old or in its new schema, and the backup is whole',
    class: 'retry',
  },
  {
    id: 'F-PR-08',
    happens: 'cron starts a run while the daemon runs',
    answer: 'the daemon is asked to do it; a store that another process holds is exit 11',
    class: 'accepted',
  },
  {
    id: 'F-PR-09',
    happens: 'the disk of the state fails at a write, a flush or a rename',
    answer: 'the error names the disk; everything reported as done is stored, and the next run sends nothing again',
    class: 'operator',
  },
  {
    id: 'F-PR-10',
    happens: 'the store was restored from an older copy, or lost all or part of its log',
    answer: 'readers and writers refuse it with exit 78, however little is missing',
    class: 'halt',
  },
  {
    id: 'F-PR-11',
    happens: 'the lock file is deleted or replaced under a running process',
    answer: 'no other process gets the store',
    class: 'accepted',
  },
  {
    id: 'F-PR-12',
    happens: 'connections to the daemon that send nothing, or never read',
    answer: 'the oldest silent one is closed, so that idle connections block no client',
    class: 'accepted',
  },
  {
    id: 'F-PR-13',
    happens: 'a daemon that does not answer, or a file to be read that is a pipe',
    answer: 'no command waits without end: it reports the daemon, or refuses the file',
    class: 'accepted',
  },
  {
    id: 'F-PR-14',
    happens: 'a document in the embedded library is written to cost much',
    answer: 'a child process with bounds reads it; it ends as partial or failed, and delays no other document',
    class: 'operator',
  },
  {
    id: 'F-PR-15',
    happens: 'SIGSTOP for a while, in the middle of uploads',
    answer: 'the process continues where it was, and looks for uploads that broke meanwhile',
    class: 'retry',
  },
  {
    id: 'F-PR-16',
    happens: 'a pipe, a directory, a link, something huge or a foreign database where a file of the state belongs',
    answer: 'no command waits for it or reads it: exit 78, the file is named, nothing is sent',
    class: 'operator',
  },
  {
    id: 'F-PR-17',
    happens: 'a full output, a working directory that is gone, no free file descriptor at start, a nonsense locale',
    answer: 'one line and an exit code of the table, no stack',
    class: 'operator',
  },
  {
    id: 'F-PR-18',
    happens: 'a request to stop while a command waits for its standard input',
    answer: 'it ends at once: its input counts as ended',
    class: 'accepted',
  },
  {
    id: 'F-PR-19',
    happens: 'a request to stop while a thread loads its modules, works or hangs',
    answer:
      'each thread is asked to end, none is terminated while it loads, one that hangs is left alone after its time: no signal ends the process',
    class: 'accepted',
  },
  {
    id: 'F-PR-20',
    happens:
      'a reload at a bad moment: the configuration is spoilt, or changed again meanwhile, a port is taken, the disk of the state is full',
    answer:
      'the file is read once and all of it is checked before anything stops; otherwise the old one stays in force',
    class: 'accepted',
  },
  {
    id: 'F-PR-21',
    happens: 'a program that shelfd runs cannot be started, does not end, prints without end or leaves others behind',
    answer: 'it fails alone and is named; it and all that it started end, by SIGTERM and then SIGKILL',
    class: 'accepted',
  },
]
