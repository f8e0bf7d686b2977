#!/usr/bin/env node
import { Command } from 'commander';
import { catalogueCommand, Problem } from './catalogue.ts';

/** `npx perennial`: what people do with an installation from a shell, over its API. */
const program = new Command('perennial').description('Perennial from the command line').addCommand(catalogueCommand());
try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof Problem)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
