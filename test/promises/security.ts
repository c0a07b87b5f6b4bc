import type { SecurityRow } from './rows.ts'

const RULES = {
  'S-01': 'The service is reached by https, unless it is on loopback.',
  'S-02': 'The check of certificates cannot be switched off, also not by a variable of Node.',
  'S-03': 'Only the header `Authorization` carries the credential.',
  'S-04': 'Secrets are left out of everything that is printed or logged, by their value, at every level.',
  'S-05': 'Files and directories that shelfd creates are for their owner alone.',
  'S-06':
    'A secret that others can read is refused, and so is any file that decides what is run, read or sent if another user owns it or can write it.',
  'S-07': 'Names from the service become local names only through one function.',
  'S-08': 'Text from the service is bounded and escaped before it is shown or kept.',
  'S-09': 'JSON of the service is bounded, also after it is unpacked.',
  'S-10': 'SQL is prepared and takes values only as parameters; a schema is not trusted.',
  'S-11':
    'Commands reach the daemon by a socket of its owner (0600); the pages of health are served on loopback, for names of loopback.',
  'S-12': 'No GET changes a state.',
  'S-13': 'A credential that may delete gets a warning.',
  'S-14': 'Root sends to a service only by a flag, a variable or as a system service.',
  'S-15': 'The system unit of systemd exposes at most 1.5 of 10.',
  'S-16': 'Few dependencies, each with its reason, of locked versions; one install script is allowed.',
  'S-17': 'The embedded library bounds connections, headers, bodies and forms, and what reading a document may take.',
  'S-18':
    'shelfd follows no link that others planted when it writes a file, and runs no code that others could have put in place of ours.',
  'S-19': 'Printed or logged text never moves the cursor, reorders text or hides characters, whatever its source.',
  'S-20': 'The embedded library answers no request without a token, and warns when others on the network can reach it.',
  'S-21': 'The package lists everything that is installed with it, with checksums.',
  'S-22':
    'The page of the library runs no code but its own, asks no other server, and keeps the token out of addresses and cookies.',
  'S-23':
    'The dashboard answers this machine and its own page alone: a one-time address opens one session, whose token is in no address.',
  'S-24':
    'No identifier, path, field name or address from outside changes where a request goes, what it says, or what a page opens.',
  'S-25':
    'The daemon checks what a client asks as the command line does: every number has its bounds, and no request makes more threads than the machine has room for.',
  'S-26': 'No process of shelfd opens a debugger, whatever signal it gets.',
  'S-27':
    'The dashboard writes into the configuration file nothing but the name, directory, library and ignore rules of a mirror; a change that reaches more is refused.',
  'S-28': 'A file that the user names is put in place whole, never over or instead of what came meanwhile.',
  'S-29':
    'The password of the ledger goes to a server that proves to know it, or whose certificate was checked, and to no other.',
  'S-30':
    'At the ledger a host speaks for itself alone; what others wrote there is bounded and parsed, and what is odd of it stops nothing else.',
  'S-31': 'A file that looks like a secret, by its name or its content, is sent only where a rule brings it back.',
}

/** The rules of security, as docs/development/promises.md lists them. */
export const security: readonly SecurityRow[] = Object.entries(RULES).map(([id, holds]) => ({ id, holds }))
