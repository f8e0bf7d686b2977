import { aggregatesSuite } from './aggregates.suite.ts';
import { contractSuite } from './contract.suite.ts';
import { suiteEngine } from './engine.ts';
import { identitySuite } from './identity.suite.ts';

const engine = await suiteEngine('clickhouse');
aggregatesSuite(engine);
contractSuite(engine);
identitySuite(engine);
