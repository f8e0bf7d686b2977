#!/usr/bin/env node
import { Command } from 'commander';
import { catalogueCommand } from './catalogue.ts';
import { Problem } from './connection.ts';
import { listenCommand } from './listen.ts';

/** `npx perennial`: what people do with an installation from a shell, over its API. */
const program = new Command('perennial')
  .description('Perennial from the command line')
  .addCommand(catalogueCommand())
  .addCommand(listenCommand());
try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof Problem)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
